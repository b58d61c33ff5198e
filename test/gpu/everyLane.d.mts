export function letEveryLaneArrive(folder: string): void
