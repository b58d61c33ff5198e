/** An SQLite database: which profiler's it is, by its tables. */
import { UserError } from '../../errors'
import { ChunkSource, type ByteSource } from './byteSource'
import { isNsys, readNsys } from './readNsys'
import { isRocpd, readRocpd } from './readRocpd'
import type { OpenedProfile, Parser } from './reader'
import { SqliteFile } from './sqliteFile'

export function readDatabase(source: ByteSource, fileName: string): OpenedProfile {
  const file = new SqliteFile(source, fileName)
  if (isNsys(file)) return readNsys(file, fileName)
  if (isRocpd(file)) return readRocpd(file, fileName)
  const names = file.tableNames().slice(0, 4).join(', ')
  const isNvprof = file.has('StringTable') && file.has('CUPTI_ACTIVITY_KIND_KERNEL')
  throw new UserError(
    'usage',
    isNvprof
      ? `${fileName} is a database of nvprof, which is not read: record with Nsight Systems, or convert it to a Chrome trace.`
      : `${fileName} is an SQLite database, of neither Nsight Systems nor rocprofv3: its tables are ${names || 'none'}.`
  )
}

/** For a database that streams in, out of gzip or a pipe: it is held whole. */
export class DatabaseParser implements Parser {
  private readonly source = new ChunkSource()
  constructor(private readonly fileName: string) {}
  write(chunk: Uint8Array): void {
    this.source.add(chunk)
  }
  finish(): OpenedProfile {
    return readDatabase(this.source, this.fileName)
  }
}
