/** What charts of the page alone share with those that a report draws too. */
export * from '@shared/charts/theme'
