import { resolve } from 'node:path';
import { commandHelp, type CommandLine, type Flags, parseCommandLine } from '../../src/base/command-line.ts';
import { isAppError } from '../../src/base/errors.ts';
import { readBuild } from './build.ts';
import { makeRelease } from './release.ts';

/** `npm run release -- --version 11.0.0 --payload FOLDER -o dist/release`: everything that a release has. */
const flags = {
  version: {
    value: 'X.Y.Z',
    help: 'version of the release; default is that of package.json',
    expected: text =>
      /^\d{1,4}\.\d{1,4}\.\d{1,4}(-[\w.]{1,32})?$/.test(text) ? undefined : 'a version such as 11.0.0',
  },
  payload: { value: 'folder', help: 'packed payload for the image, made by `wmco payload pack`' },
  output: { value: 'folder', short: 'o', default: 'dist/release', help: 'folder of the release' },
} as const satisfies Flags;
const line: CommandLine<typeof flags> = {
  name: 'npm run release --',
  summary: 'make a release: executable, image context, checksums',
  flags,
  details: 'SOURCE_DATE_EPOCH replaces the date of the commit. Two runs on the same sources give the same bytes.',
};

try {
  const values = parseCommandLine(line, process.argv.slice(2))?.values;
  if (values === undefined) console.log(commandHelp(line));
  else await release(values);
} catch (error) {
  if (isAppError(error)) console.error(`error: ${error.message}\n  -> ${error.remedy}`);
  else console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = isAppError(error, 'USAGE') ? 2 : 1;
}

async function release({ version, payload, output }: Readonly<Record<keyof typeof flags, string>>): Promise<void> {
  const { SOURCE_DATE_EPOCH: sourceDateEpoch } = process.env;
  const build = readBuild({ ...(version && { release: version }), ...(sourceDateEpoch && { sourceDateEpoch }) });
  if (build.version.endsWith('-dirty'))
    console.error('note: the sources differ from the commit, so the version says dirty');
  if (payload === '') console.error('note: without --payload the image has no programs for hosts and does not start');
  await makeRelease({
    build,
    output: resolve(output),
    ...(payload && { payload: resolve(payload) }),
    progress: text => console.error(text),
  });
  console.log(`${output}: release ${build.release}, version ${build.version}`);
}
