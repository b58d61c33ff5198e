/** Of a source: file, what it has in one place, and what in its stead. */
export type Changes = [string, string, string][]
export function change(folder: string, changes: Changes): void
