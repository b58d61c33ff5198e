/** Every matrix of (rows, columns), one byte an element, with rows and columns changed for one another. */
export function turned(bytes: Uint8Array, rows: number, columns: number): Uint8Array {
  const to = new Uint8Array(bytes.length)
  for (let first = 0; first < bytes.length; first += rows * columns) {
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++)
        to[first + column * rows + row] = bytes[first + row * columns + column]!
    }
  }
  return to
}
