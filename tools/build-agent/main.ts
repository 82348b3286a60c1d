import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';
import { agentName, buildAgent } from './build-agent.ts';
import { componentsOf } from './components.ts';
import { printSbom } from './sbom.ts';

/** `npm run build:agent`: the agent for Windows hosts, and what it is made of. */
const root = join(import.meta.dirname, '..', '..');
const output = join(root, 'dist', `${agentName}.exe`);
const version = process.env['WMCO_VERSION'];

const built = await buildAgent({ entry: join(root, 'src/bin/agent.ts'), output, ...(version && { version }) });
const sbom = join(root, 'dist', `${agentName}.sbom.json`);
const components = await componentsOf(built.inputs);
await writeFile(sbom, printSbom({ ...built, name: agentName, license: 'Apache-2.0' }, components));

let packedBytes = 0;
for await (const chunk of createReadStream(built.path).pipe(createGzip())) packedBytes += (chunk as Buffer).length;
const megabytes = (count: number) => `${(count / 1e6).toFixed(1)} MB`;
console.log(`${built.path}: ${megabytes(built.bytes)}, packed ${megabytes(packedBytes)}, version ${built.version}`);
console.log(`sha256 ${built.sha256}`);
console.log(`${sbom}: ${components.map(({ name, version: its }) => `${name} ${its}`).join(', ')}`);
