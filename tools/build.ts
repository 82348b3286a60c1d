import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { readBuild } from './release/build.ts';
import { buildProgram } from './release/program.ts';

/** `npm run build`: the command line as one executable for Linux. */
const output = join(import.meta.dirname, '..', 'dist', 'wmco');
const { WMCO_VERSION: version, SOURCE_DATE_EPOCH: sourceDateEpoch } = process.env;

const build = readBuild({ ...(version && { version }), ...(sourceDateEpoch && { sourceDateEpoch }) });
const { bytes, sha256 } = await buildProgram({ build, output });
console.log(`${output}: ${(bytes / 1e6).toFixed(1)} MB\nsha256 ${sha256}`);
console.log(execFileSync(output, ['version'], { encoding: 'utf8' }).trim());
