#!/usr/bin/env node
import { watchStreams } from '../ground/terminal'
import { main } from './main'

watchStreams()
void main(process.argv.slice(2))
