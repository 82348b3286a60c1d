import { generateKeyPairSync } from 'node:crypto';
import { verbs } from '../../../src/agent/verbs/all.ts';
import { AppError } from '../../../src/base/errors.ts';
import { admits, linesOf, readKeyLine } from '../../../src/contract/authorized-keys.ts';
import { agentName } from '../../../src/contract/names.ts';
import { agentProgramHash, authorizedKeysFile, dir } from '../../../src/contract/paths.ts';
import type {
  CommandResult,
  Connect,
  HostConnection,
  HostTarget,
  RemoveFolderOptions,
  UploadContent,
} from '../../../src/host/host.ts';
import type { HostKey } from '../../../src/host/host-key.ts';
import { trustHostKey } from '../../../src/host/host-key.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import type { PublicKey } from '../../../src/host/keys/public-key.ts';
import { runIn, worldOf } from '../agent-bench.ts';
import { ModelHost } from '../model-host.ts';
import { recordedLog } from '../recorded-log.ts';
import { LabActivator } from './lab-activator.ts';

/** What goes wrong on a host; each is asked before the act and may throw. */
export interface HostFaults {
  connect?: (attempt: number) => void;
  /** May give the result in place of the host. */
  exec?: (command: string) => CommandResult | undefined | Promise<CommandResult | undefined>;
  upload?: (path: string) => void | Promise<void>;
  removeFolder?: (path: string) => void | Promise<void>;
  /** Changes what the agent prints as JSON. */
  answer?: (verb: string, data: Record<string, unknown>) => object;
}

export const anyKey = (): HostKey => parsePrivateKey(newKey()).publicKey;

export function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
}

export const lost = (address: string): AppError =>
  new AppError('HOST_CONNECTION_LOST', `${address}: the connection broke`, { remedy: 'Try again.' });
const refusedKey = (address: string): AppError =>
  new AppError('HOST_REFUSED_KEY', `${address}: the host accepts none of the keys`, { remedy: 'Add the key.' });
export const unreachable = (address: string): AppError =>
  new AppError('HOST_UNREACHABLE', `${address}: the host does not answer`, { remedy: 'Check the host.' });

const absent = {
  exitCode: 1,
  stdout: '',
  stderr: 'Der Befehl ist entweder falsch geschrieben oder wurde nicht gefunden.',
};

/** A Windows host without network: commands of the agent run on a model of the host, files go straight to its disk. */
export class LabHost {
  readonly address: string;
  readonly model = new ModelHost();
  readonly logged = recordedLog();
  /** The temporary service that swaps files. */
  readonly activator = new LabActivator(this.model, () => this.onChange());
  hostKey = anyKey();
  faults: HostFaults = {};
  /** Every command, in order. */
  readonly commands: string[] = [];
  /** Paths of uploads that came to their end, in order. */
  readonly uploads: string[] = [];
  connectionCount = 0;
  /** How long a boot takes. */
  bootMs = 30;
  boots = 1;
  /** The boot in which the agent first ran as a service. */
  agentBoot: number | undefined;
  /** Called after each command, when the host may have changed. */
  onChange: () => void = () => undefined;
  readonly #open = new Set<LabConnection>();
  #isDown = false;
  #isOrdered = false;

  constructor(address: string) {
    this.address = address;
    this.model.state.hostName = `win-${address.split('.').at(-1)}`;
    this.model.state.adapters[0]?.addresses.splice(0, 1, `${address}/24`);
    this.model.system.reboot = async () => this.#order();
  }

  /** Every key, until it has a file with keys of administrators. */
  accepts(key: PublicKey): boolean {
    const text = this.model.fileTexts.get(authorizedKeysFile);
    return text === undefined || admits(linesOf(text).map(readKeyLine), key.blob);
  }

  get openConnections(): number {
    return this.#open.size;
  }

  /** The verbs that were run, without what the caller does not care for. */
  verbs(): string[] {
    return this.commands.map(command => command.split(' ')[1] ?? '');
  }

  readonly connect: Connect = async (target, options = {}) => {
    options.signal?.throwIfAborted();
    await new Promise(resolve => setTimeout(resolve, 1));
    this.connectionCount += 1;
    this.faults.connect?.(this.connectionCount);
    if (this.#isDown) throw unreachable(this.address);
    const trust = trustHostKey(target.pinnedKey, this.hostKey, this.address);
    if (!trust.accepted) throw trust.error;
    const connection = new LabConnection(this, target, trust.isNew);
    this.#open.add(connection);
    connection.ended.addEventListener('abort', () => this.#open.delete(connection), { once: true });
    return connection;
  };

  /** Refuses connections from now on, until its faults are replaced. */
  stopAnswering(): void {
    this.faults.connect = () => {
      throw unreachable(this.address);
    };
  }

  /** Ends all connections, as a network does. */
  disconnect(): void {
    for (const connection of this.#open) connection.break();
  }

  /** Of several orders in one boot Windows carries out the first. */
  #order(): void {
    if (this.#isOrdered) return;
    this.#isOrdered = true;
    setTimeout(() => void this.reboot(), 5);
  }

  async reboot(): Promise<void> {
    this.#isDown = true;
    this.disconnect();
    await new Promise(resolve => setTimeout(resolve, this.bootMs));
    await this.model.reboot();
    this.activator.look();
    this.boots += 1;
    [this.#isDown, this.#isOrdered] = [false, false];
    this.onChange();
  }

  async run(command: string): Promise<CommandResult> {
    this.commands.push(command);
    const instead = await this.faults.exec?.(command);
    if (instead !== undefined) return instead;
    const [program = '', ...words] = command.split(' ');
    // What users of the host could have put there must never be run.
    if (agentProgramHash(program) === undefined)
      throw new Error(`${program} was run, not a program in ${dir.agentPrograms}`);
    if (!this.model.fileTexts.has(program)) return absent;
    const [verb = ''] = words;
    if (verbs.every(({ name }) => name !== verb) && verb.startsWith('remove-')) return this.#remove(verb);
    const { code, out, err } = await runIn(worldOf(this.model, this.logged, { program }), words.join(' '));
    this.activator.look();
    this.onChange();
    return { exitCode: code, stdout: this.#altered(words[0] ?? '', out), stderr: err };
  }

  /** As the agent does: without networks or files of the operator. */
  async #remove(verb: string): Promise<CommandResult> {
    const { state, fileTexts } = this.model;
    const files = [...fileTexts.keys()].filter(path => path.startsWith(`${dir.k}\\`));
    if (verb === 'remove-networks') state.networks.splice(0);
    else for (const path of files) fileTexts.delete(path);
    await this.model.services.remove(agentName).catch(() => undefined);
    const out = JSON.stringify({ removed: files.length, left: [] });
    return { exitCode: 0, stdout: this.#altered(verb, out), stderr: '' };
  }

  #altered(verb: string, out: string): string {
    const { answer } = this.faults;
    if (answer === undefined || !out.startsWith('{')) return out;
    const data = JSON.parse(out) as Record<string, unknown>;
    const { inventory } = data;
    // Securing a host answers with an inventory, too.
    if (inventory !== undefined)
      return JSON.stringify({ ...data, inventory: answer('inventory', inventory as typeof data) });
    return JSON.stringify(answer(verb, data));
  }
}

class LabConnection implements HostConnection {
  readonly facts: HostConnection['facts'];
  readonly #host: LabHost;
  readonly #over = new AbortController();
  #exec = 0;
  #sftp = 0;
  #bytes = 0;

  constructor(host: LabHost, target: HostTarget, isNewHostKey: boolean) {
    this.#host = host;
    const accepted = target.privateKeys.find(({ publicKey }) => host.accepts(publicKey));
    const { address, hostKey } = host;
    if (accepted === undefined) throw refusedKey(address);
    this.facts = {
      address,
      hostKey,
      isNewHostKey,
      acceptedKey: accepted.publicKey,
      software: 'OpenSSH_for_Windows_9.5',
    };
  }

  get ended(): AbortSignal {
    return this.#over.signal;
  }

  async exec(command: string, options: { signal?: AbortSignal } = {}): Promise<CommandResult> {
    this.#exec += 1;
    return this.#within(options.signal, () => this.#host.run(command));
  }

  async upload(
    path: string,
    content: UploadContent,
    options: { signal?: AbortSignal; onProgress?: (bytes: number) => void } = {},
  ): Promise<void> {
    this.#sftp = 1;
    await this.#within(options.signal, async () => {
      await this.#host.faults.upload?.(path);
      const parts: Uint8Array[] = [];
      for await (const chunk of content instanceof Uint8Array ? [content] : content.chunks) {
        this.#over.signal.throwIfAborted();
        parts.push(Uint8Array.from(chunk));
        this.#bytes += chunk.length;
        options.onProgress?.(parts.reduce((sum, part) => sum + part.length, 0));
        await new Promise(resolve => setImmediate(resolve));
      }
      this.#host.model.fileTexts.set(path, Buffer.concat(parts));
      this.#host.uploads.push(path);
    });
  }

  async fileSize(path: string): Promise<number | undefined> {
    this.#sftp = 1;
    return (await this.#host.model.files.stat(path))?.bytes;
  }

  async removeFolder(path: string, { keep = [] }: RemoveFolderOptions = {}): Promise<void> {
    this.#over.signal.throwIfAborted();
    const { model, faults } = this.#host;
    await faults.removeFolder?.(path);
    const kept = keep.map(name => `${path}\\${name}\\`);
    for (const each of model.fileTexts.keys()) {
      const isInside =
        each.startsWith(`${path}\\`) && !kept.some(folder => each.toLowerCase().startsWith(folder.toLowerCase()));
      if (isInside) model.fileTexts.delete(each);
    }
  }

  async download(path: string): Promise<Uint8Array> {
    return Buffer.from(this.#host.model.fileTexts.get(path) ?? '');
  }

  usage() {
    return { execSessions: this.#exec, sftpSessions: this.#sftp, bytesSent: this.#bytes, bytesReceived: 0 };
  }

  break(): void {
    this.#over.abort(lost(this.facts.address));
  }

  async close(): Promise<void> {
    this.break();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Work in progress goes on upon the host when the connection breaks, but its result is lost. */
  async #within<T>(signal: AbortSignal | undefined, act: () => Promise<T>): Promise<T> {
    const over = signal === undefined ? this.#over.signal : AbortSignal.any([this.#over.signal, signal]);
    over.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    const stop = () => reject(over.reason);
    over.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([act(), promise]);
    } finally {
      over.removeEventListener('abort', stop);
    }
  }
}
