/**
 * How a file of Python kernels is named: a bundled example by its name alone, any other by a path. Runs are shared and committed, so
 * what lies in the working folder is recorded from there.
 */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Library } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'

export class ProviderPaths {
  /** `folder`: resources/providers; absent: nothing is bundled. */
  constructor(
    private readonly folder: string | undefined,
    private readonly workingFolder = process.cwd()
  ) {}

  /** The file that `--provider` or a run names. */
  pathOf(named: string): string {
    const bundled = this.bundled(named)
    return bundled !== undefined && existsSync(bundled)
      ? bundled
      : resolve(this.workingFolder, named)
  }

  /** What a run calls a file. */
  nameOf(path: string): string {
    const bundledName = /([\w-]+)\.py$/.exec(path)?.[1]
    if (bundledName !== undefined && this.bundled(bundledName) === path) return bundledName
    const inside = relative(this.workingFolder, path)
    const isRoot = dirname(this.workingFolder) === this.workingFolder
    if (isRoot || inside.startsWith('..') || isAbsolute(inside)) return path
    return this.bundled(inside) === undefined ? inside : `./${inside}`
  }

  located<S extends Pick<JobSpec, 'providerFiles'>>(spec: S): S {
    return this.with(spec, (named) => this.pathOf(named))
  }

  recorded<S extends Pick<JobSpec, 'providerFiles'>>(spec: S): S {
    return this.with(spec, (path) => this.nameOf(path))
  }

  /** Libraries as a run records them: a file of kernels is one of them. */
  recordedLibraries(libraries: readonly Library[], files: readonly string[] = []): Library[] {
    return libraries.map((library) =>
      files.includes(library.path) ? { ...library, path: this.nameOf(library.path) } : library
    )
  }

  private bundled(name: string): string | undefined {
    if (this.folder === undefined || !/^[\w-]+$/.test(name)) return undefined
    return join(this.folder, 'examples', `${name}.py`)
  }

  private with<S extends Pick<JobSpec, 'providerFiles'>>(spec: S, as: (file: string) => string): S {
    if (spec.providerFiles === undefined) return spec
    return { ...spec, providerFiles: spec.providerFiles.map(as) }
  }
}
