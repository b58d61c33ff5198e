/**
 * What a mangled name says, as a tree that prints itself. A C++ type is written around the name it declares, so every
 * node has a left and a right half: 'void (*' and ')(int)'.
 */

import { Node, type Printer, type Reference, type Scope, type Shape } from './printer'
import { NotMangled } from './scanner'

export class Text extends Node {
  constructor(
    readonly text: string,
    private readonly base = text
  ) {
    super()
  }
  left(out: Printer): void {
    out.write(this.text)
  }
  override baseName(): string {
    return this.base
  }
}

/** Pieces one after the other: texts and nodes. */
export class Sequence extends Node {
  constructor(private readonly pieces: readonly (string | Node)[]) {
    super()
  }
  left(out: Printer): void {
    for (const piece of this.pieces) {
      if (typeof piece === 'string') out.write(piece)
      else out.print(piece)
    }
  }
}

/** name[abi:cxx11] */
export class Tagged extends Node {
  constructor(
    private readonly name: Node,
    private readonly tag: string
  ) {
    super()
  }
  left(out: Printer): void {
    out.print(this.name)
    out.write(`[abi:${this.tag}]`)
  }
  override baseName(): string {
    return this.name.baseName()
  }
}

export class List extends Node {
  constructor(private readonly nodes: readonly Node[]) {
    super()
  }
  left(out: Printer): void {
    out.list(this.nodes)
  }
}

export class Scoped extends Node {
  constructor(
    private readonly scope: Node,
    private readonly name: Node
  ) {
    super()
  }
  left(out: Printer): void {
    out.print(this.scope)
    out.write('::')
    out.print(this.name)
  }
  endsInArguments(): boolean {
    return this.name instanceof WithArguments
  }
  override lastPart(): Node {
    return this.name.lastPart()
  }
  override baseName(): string {
    return this.name.baseName()
  }
}

export class WithArguments extends Node {
  constructor(
    private readonly name: Node,
    private readonly list: readonly Node[]
  ) {
    super()
  }
  left(out: Printer): void {
    out.print(this.name)
    // 'operator<' and its arguments would read as a shift.
    out.write(out.text.endsWith('<') ? ' <' : '<')
    // A pack outside of these arguments has nothing to do with an expansion within.
    out.list(this.list)
    out.write(out.text.endsWith('>') ? ' >' : '>')
  }
  override baseName(): string {
    return this.name.baseName()
  }
}

export class Qualified extends Node {
  constructor(
    private readonly type: Node,
    private readonly qualifiers: string
  ) {
    super()
  }
  left(out: Printer): void {
    this.type.left(out)
    out.write(this.qualifiers)
  }
  override right(out: Printer): void {
    this.type.right(out)
  }
  override shape(out: Printer): Shape {
    return this.type.shape(out)
  }
}

/** Pointers, references and pointers to members. */
export class Declarator extends Node {
  constructor(
    private readonly type: Node,
    private readonly mark: '*' | '&' | '&&' | Node
  ) {
    super()
  }
  left(out: Printer): void {
    const mark = this.reference(out)?.mark ?? this.mark
    this.ofPointee(out, (type) => {
      type.left(out)
      const shape = type.shape(out)
      if (shape === 'array') out.write(' ')
      if (shape !== 'plain') out.write('(')
      else if (typeof mark !== 'string') out.write(' ')
    })
    if (typeof mark === 'string') out.write(mark)
    else {
      out.print(mark)
      out.write('::*')
    }
  }
  override right(out: Printer): void {
    this.ofPointee(out, (type) => {
      if (type.shape(out) !== 'plain') out.write(')')
      type.right(out)
    })
  }
  /** A reference to a reference is one reference: '&' if either is. */
  override reference(out: Printer): Reference | null {
    const { type, mark } = this
    if (mark !== '&' && mark !== '&&') return null
    const inner = type.reference(out)
    if (!inner) return { type, scope: out.scope, mark }
    return { ...inner, mark: inner.mark === '&' ? '&' : mark }
  }
  private ofPointee(out: Printer, visit: (type: Node) => void): void {
    const reference = this.reference(out)
    if (reference) inScope(out, reference.scope, () => visit(reference.type))
    else visit(this.type)
  }
}

function inScope<T>(out: Printer, scope: Scope | null, visit: () => T): T {
  const before = out.scope
  out.scope = scope
  const result = visit()
  out.scope = before
  return result
}

export class FunctionType extends Node {
  constructor(
    private readonly result: Node,
    private readonly parameters: readonly Node[],
    private readonly qualifiers: readonly (string | Node)[]
  ) {
    super()
  }
  left(out: Printer): void {
    this.result.left(out)
    out.write(' ')
  }
  override right(out: Printer): void {
    out.write('(')
    out.list(this.parameters)
    out.write(')')
    out.print(new Sequence(this.qualifiers))
    this.result.right(out)
  }
  override shape(): Shape {
    return 'function'
  }
}

export class ArrayType extends Node {
  constructor(
    private readonly element: Node,
    private readonly extent: Node
  ) {
    super()
  }
  left(out: Printer): void {
    this.element.left(out)
  }
  override right(out: Printer): void {
    out.write(out.text.endsWith(']') ? '[' : ' [')
    out.print(this.extent)
    out.write(']')
    this.element.right(out)
  }
  override shape(): Shape {
    return 'array'
  }
}

/** A function with its parameters; its return type is left out: a kernel's says nothing. */
export class Signature extends Node {
  constructor(
    private readonly name: Node,
    private readonly parameters: readonly Node[],
    private readonly qualifiers: string
  ) {
    super()
  }
  left(out: Printer): void {
    out.print(this.name)
    out.write('(')
    out.list(this.parameters)
    out.write(`)${this.qualifiers}`)
  }
  /** The name alone, as after an '&'; qualifiers keep it whole. */
  withoutParameters(): Node {
    return this.qualifiers === '' ? this.name : new Sequence(['(', this, ')'])
  }
}

/** {lambda(int, auto:1)#1} */
export class Lambda extends Node {
  constructor(
    private readonly parameters: readonly Node[],
    private readonly index: number
  ) {
    super()
  }
  left(out: Printer): void {
    const { inLambda } = out
    out.write('{lambda(')
    out.inLambda = true
    out.list(this.parameters)
    out.inLambda = inLambda
    out.write(`)#${this.index}}`)
  }
}

/** A name with what T_ means in it. */
export class Encoding extends Node {
  constructor(
    readonly entity: Node,
    private readonly list: readonly Node[]
  ) {
    super()
  }
  left(out: Printer): void {
    const { scope, inLambda } = out
    out.inLambda = false
    inScope(out, { arguments: this.list, outer: scope }, () => out.print(this.entity))
    out.inLambda = inLambda
  }
  withoutParameters(): Node {
    const { entity, list } = this
    return entity instanceof Signature ? new Encoding(entity.withoutParameters(), list) : this
  }
}

/** A template argument pack: as an argument all of it, behind a T_ the element whose turn it is. */
export class Pack extends Node {
  constructor(readonly elements: readonly Node[]) {
    super()
  }
  left(out: Printer): void {
    out.list(this.elements)
  }
}

export class TemplateParameter extends Node {
  constructor(private readonly index: number) {
    super()
  }
  left(out: Printer): void {
    if (out.inLambda) out.write(`auto:${this.index + 1}`)
    else this.ofArgument(out, (argument) => argument.left(out))
  }
  override right(out: Printer): void {
    if (!out.inLambda) this.ofArgument(out, (argument) => argument.right(out))
  }
  override shape(out: Printer): Shape {
    return (!out.inLambda && this.ofArgument(out, (argument) => argument.shape(out))) || 'plain'
  }
  override reference(out: Printer): Reference | null {
    return out.inLambda ? null : this.ofArgument(out, (argument) => argument.reference(out))
  }
  /** Arguments are written where the template is used: a T_ in them means what it means there. */
  private ofArgument<T>(out: Printer, visit: (argument: Node) => T): T | null {
    const { scope } = out
    let argument = scope?.arguments[this.index]
    if (!scope || !argument) throw new NotMangled()
    if (argument instanceof Pack) {
      if (out.packSize < 0) {
        out.packSize = argument.elements.length
        out.packIndex = 0
      }
      argument = argument.elements[out.packIndex]
      if (!argument) return null
    }
    const found = argument
    return inScope(out, scope.outer, () => visit(found))
  }
}

export class Expansion extends Node {
  constructor(private readonly pattern: Node) {
    super()
  }
  left(out: Printer): void {
    const { packIndex, packSize } = out
    const start = out.text
    out.packIndex = out.packSize = -1
    out.print(this.pattern)
    const size = out.packSize
    if (size < 0) out.write('...')
    else if (size === 0) out.text = start
    for (let index = 1; index < size; index++) {
      out.write(', ')
      out.packIndex = index
      out.packSize = size
      out.print(this.pattern)
    }
    out.packIndex = packIndex
    out.packSize = packSize
  }
}
