/** Short messages at the bottom of the window; one may carry an undo. */
import { defineStore } from 'pinia'
import { ref } from 'vue'
import type { Failure } from '../ground/failure'

export interface Message {
  id: number
  text: string
  failure?: Failure
  action?: { title: string; run: () => void }
}

const shownForMs = 8000

export const useMessages = defineStore('messages', () => {
  const list = ref<Message[]>([])
  let lastId = 0

  function say(text: string, more: Pick<Message, 'failure' | 'action'> = {}): void {
    const id = ++lastId
    list.value = [...list.value.slice(-3), { id, text, ...more }]
    // A failure stays until it is read and closed.
    if (!more.failure) setTimeout(() => close(id), shownForMs)
  }

  function close(id: number): void {
    list.value = list.value.filter((message) => message.id !== id)
  }

  return { list, say, close }
})
