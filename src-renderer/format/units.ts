/** Numbers as text: the report, which is written on the main side, says them the same way. */
export * from '@shared/units'
