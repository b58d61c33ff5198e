import { defineAsyncComponent, type AsyncComponentLoader, type Component } from 'vue'

const againMs = 500
/** What Chromium says of a file that did not arrive; anything else is a fault of the code. */
const didNotArrive = /dynamically imported module|preload/

/**
 * A component whose code is loaded when it is first shown. While the host cannot be reached it is asked for again: a page
 * outlives its connection, and a part that was not there yet must come when the connection does.
 */
export const lateComponent = <T extends Component>(loader: AsyncComponentLoader<T>): T =>
  defineAsyncComponent({
    loader,
    onError(error, retry, fail) {
      if (didNotArrive.test(error.message)) setTimeout(retry, againMs)
      else fail()
    }
  }) as T
