import { computed, ref, watch, type Ref } from 'vue'
import type { Checked } from '../../ground/fields'

/** A field over a number that lives elsewhere: what is typed reaches it once it is good, and follows its changes. */
export function useTypedNumber(
  current: () => number,
  check: (typed: string) => Checked<number>,
  write: (value: number) => void
): { typed: Ref<string>; problem: Ref<string | undefined> } {
  const typed = ref(String(current()))
  const checked = computed(() => check(typed.value))
  watch(current, (value) => {
    if (checked.value.value !== value) typed.value = String(value)
  })
  watch(typed, () => {
    const { value } = checked.value
    if (value !== undefined && value !== current()) write(value)
  })
  return { typed, problem: computed(() => checked.value.problem) }
}
