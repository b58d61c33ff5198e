/**
 * How a run names the files that a job was given. Runs are shared and committed, so what lies in the working folder is recorded from
 * there, and a bundled file of Python kernels by its name alone.
 */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Library } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'

type Providers = Pick<JobSpec, 'providerFiles'>

export class RecordedPaths {
  /** `providersFolder`: resources/providers; absent: nothing is bundled. */
  constructor(
    private readonly providersFolder: string | undefined,
    private readonly workingFolder = process.cwd()
  ) {}

  /** The file of Python kernels that `--provider` or a run names. */
  providerAt(name: string): string {
    const bundled = this.bundled(name)
    return bundled !== undefined && existsSync(bundled)
      ? bundled
      : resolve(this.workingFolder, name)
  }

  /** A job with the paths of the files of Python kernels that it names. */
  located<S extends Providers>(spec: S): S {
    const { providerFiles } = spec
    if (providerFiles === undefined) return spec
    return { ...spec, providerFiles: providerFiles.map((name) => this.providerAt(name)) }
  }

  /** A located job as a run records it. */
  recorded(spec: JobSpec): JobSpec {
    const { providerFiles } = spec
    const named = {
      ...spec,
      ...(providerFiles && { providerFiles: providerFiles.map((path) => this.providerName(path)) })
    }
    if (named.kind !== 'validate') return named
    const { operandsFiles, resultFile } = named
    return {
      ...named,
      ...(operandsFiles && { operandsFiles: operandsFiles.map((path) => this.fromHere(path)) }),
      ...(resultFile !== undefined && { resultFile: this.fromHere(resultFile) })
    }
  }

  /** Libraries as a run records them: a file of kernels is one of them. */
  recordedLibraries(libraries: readonly Library[], files: readonly string[] = []): Library[] {
    return libraries.map((library) =>
      files.includes(library.path) ? { ...library, path: this.providerName(library.path) } : library
    )
  }

  private providerName(path: string): string {
    const bundledName = /([\w-]+)\.py$/.exec(path)?.[1]
    if (bundledName !== undefined && this.bundled(bundledName) === path) return bundledName
    const name = this.fromHere(path)
    return this.bundled(name) === undefined ? name : `./${name}`
  }

  private fromHere(path: string): string {
    const inside = relative(this.workingFolder, resolve(this.workingFolder, path))
    const isRoot = dirname(this.workingFolder) === this.workingFolder
    return isRoot || inside.startsWith('..') || isAbsolute(inside) ? path : inside
  }

  private bundled(name: string): string | undefined {
    if (this.providersFolder === undefined || !/^[\w-]+$/.test(name)) return undefined
    return join(this.providersFolder, 'examples', `${name}.py`)
  }
}
