import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Journal } from '../../../src/agent/activation/journal.ts';
import type { StagedRecord } from '../../../src/agent/stage/record.ts';
import { Secret } from '../../../src/base/secret.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { agentCommands } from '../../../src/contract/agent-command.ts';
import { activationService, agentName } from '../../../src/contract/names.ts';
import { activationFile, agentProgram, file, requiredDirectories } from '../../../src/contract/paths.ts';
import { type BundleFile, packBundle, packContent } from '../../../src/node/bundle.ts';
import { TestCa } from '../certificates.ts';
import { bundlePath } from '../manual-operator.ts';
import { AgentService } from './agent-service.ts';
import type { WindowsHost } from './host.ts';
import type { ManualLabOperator } from './operator.ts';
import { bootstrapperName } from './rights.ts';

/** A version with its agent program and its files. */
interface SwapSet {
  version: string;
  /** Program on this machine. */
  agent: string;
  hash: string;
  files: readonly BundleFile[];
}

const ownFiles = 12;
const fileBytes = 500_000;
const limitMs = 120_000;

/** Two sets that differ in the agent, in many files, and in one file that only one of them has. */
export async function makeSwapSets(operator: ManualLabOperator, folder: string): Promise<SwapSet[]> {
  const [bootstrapToken, agentToken] = [
    await operator.requestToken(bootstrapperName),
    await operator.requestToken(agentName),
  ];
  const { cert: certificate, key } = new TestCa('exporter').issue({ commonName: 'exporter', names: ['exporter'] });
  const common = await operator.textFiles({ bootstrapToken, agentToken, tls: { certificate, key: new Secret(key) } });
  const program = await readFile(operator.deps.agent);
  const makeSet = async (version: string): Promise<SwapSet> => {
    const agent = join(folder, `agent-${version}.exe`);
    // Windows ignores bytes behind the end of a program.
    const bytes = Buffer.concat([program, Buffer.from(version)]);
    await writeFile(agent, bytes);
    const names = [...Array.from({ length: ownFiles }, (_, index) => `file-${index}`), `only-${version}`];
    const own = names.map(async name => {
      const content = Buffer.alloc(fileBytes, `${name} of ${version}\n`);
      return { path: `C:\\k\\${name}.conf`, secret: false, ...(await packContent(content)) };
    });
    return { version, agent, hash: sha256(bytes), files: [...common, ...(await Promise.all(own))] };
  };
  return Promise.all(['v1', 'v2'].map(makeSet));
}

/** A host that has both sets, one of them in place, and an agent that reports. */
export class SwapHost {
  readonly host: WindowsHost;
  readonly #sets: readonly SwapSet[];

  constructor(host: WindowsHost, sets: readonly SwapSet[]) {
    this.host = host;
    this.#sets = sets;
  }

  async prepare(operator: ManualLabOperator): Promise<void> {
    const { drive } = this.host;
    const [first, second] = this.#sets;
    if (first === undefined || second === undefined) throw new Error('there are not two sets');
    for (const directory of requiredDirectories) await mkdir(drive.path(directory), { recursive: true });
    for (const { agent, hash } of this.#sets) await drive.copyIn(agent, agentProgram(hash));
    await drive.copyIn(first.agent, file.agent);
    await this.#stage(first, 'current');
    await this.#stage(second, 'next');
    await operator.installAgentService(this.host);
    // Wine writes its registry at the end, or after half a minute.
    await this.host.reboot();
  }

  async #stage({ version, hash, files }: SwapSet, as: 'current' | 'next'): Promise<void> {
    const next = as === 'next' && { next: { agent: hash, files: files.map(setFile) } };
    const bundle = Buffer.concat(await Array.fromAsync(packBundle({ version, files, ...next })));
    await this.host.drive.write(bundlePath, bundle);
    const commands = agentCommands(agentProgram(hash));
    const stage = as === 'next' ? commands.stageNext : commands.stage;
    await this.host.run(stage(bundlePath, sha256(bundle)), { timeoutMs: limitMs });
  }

  /** Orders the swap to the set that is not in place; gives its version. */
  order(): { version: string; done: Promise<unknown> } {
    const { version: current } = this.#record();
    const other = this.#sets.find(({ version }) => version !== current);
    if (other === undefined) throw new Error('there is no other set');
    const kept = this.host.drive.read(file.nextSet) === undefined ? 'previous' : 'next';
    const command = agentCommands(agentProgram(other.hash)).activate(kept, other.version);
    return { version: other.version, done: this.host.run(command, { timeoutMs: limitMs }) };
  }

  /** Waits until the journal has the swap; rejects when the order fails. */
  async begun(order: Promise<unknown>): Promise<void> {
    const isBegun = async () => {
      while (isClosed(this.phase())) await delay(20);
    };
    await Promise.race([isBegun(), order.then(isBegun)]);
  }

  /** Waits until no swap is open and its service is gone. */
  async settled(): Promise<void> {
    for (const endMs = performance.now() + limitMs; ; await delay(100)) {
      const phase = this.phase();
      if (isClosed(phase) && (await this.host.exec(`sc.exe query ${activationService}`)).code !== 0) return;
      if (performance.now() > endMs) new AgentService(this.host).explain(new Error(`the swap stays in phase ${phase}`));
    }
  }

  /** How far the swap is, seen from outside. */
  phase(): string {
    const text = this.host.drive.read(activationFile);
    return text === undefined ? 'none' : (JSON.parse(text) as Journal).phase;
  }

  /** The version in place, and everything that does not belong to it. */
  look(): { version: string; wrong: string[] } {
    const { drive } = this.host;
    const { version, agent } = this.#record();
    const set = this.#sets.find(each => each.version === version);
    const wanted = new Map(set?.files.map(entry => [entry.path, entry.sha256]));
    const paths = new Set(this.#sets.flatMap(({ files }) => files.map(({ path }) => path)));
    const hashOf = (path: string) => (drive.exists(path) ? sha256(readFileSync(drive.path(path))) : undefined);
    const wrong = [...paths].filter(path => hashOf(path) !== wanted.get(path));
    if (agent !== set?.hash) wrong.push('agent of the record');
    if (hashOf(file.agent) !== set?.hash) wrong.push(file.agent);
    return { version, wrong };
  }

  #record(): StagedRecord {
    return JSON.parse(this.host.drive.read(file.stagedRecord) ?? '{}') as StagedRecord;
  }
}

function isClosed(phase: string): boolean {
  return phase === 'none' || phase === 'done' || phase === 'reverted';
}

function setFile({ path, sha256: hash, bytes, secret }: BundleFile) {
  return { path, sha256: hash, bytes, secret };
}
