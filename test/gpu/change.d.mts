export function change(folder: string, changes: [string, string, string][]): void
