import type { Waiting } from '#base/waiting/poll.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { agentName, managedDescription } from '#contract/names.ts';
import { dir, splitPath } from '#contract/paths.ts';
import type { KeptIdentity } from './identity/kept-identity.ts';
import { createKey, findKey } from './identity/key.ts';
import type { HostFiles } from './ports.ts';
import { leftoverName } from './removal/own-files.ts';
import { ensureStopped, requestState, type ServicePorts } from './services/ensure.ts';
import { serviceKey } from './services/order.ts';
import { planServices } from './services/plan.ts';

export interface InstallPorts extends ServicePorts {
  files: HostFiles;
}

export interface InstallOptions {
  /** Command line of the service. */
  command: string;
  /** An installed service keeps its command: its program has another version and may have other flags. */
  keepCommand?: boolean;
  /** Identities that need a key. */
  identities: readonly KeptIdentity[];
  /** Replaces existing keys. */
  newKeys: boolean;
}

export interface InstallOutcome {
  created: boolean;
  /** The configuration of the service was changed. */
  changed: boolean;
  /** The service was started or restarted. */
  started: boolean;
  /** SHA-256 of the public keys, in the order of the identities. */
  keyHashes: string[];
}

/** Installs keys and Windows service of the agent and starts the service, without waiting for it to run. */
export async function installAgent(
  { command, keepCommand = false, identities, newKeys }: InstallOptions,
  ports: InstallPorts,
  waiting: Waiting,
): Promise<InstallOutcome> {
  const { services } = ports;
  const keyHashes = await ensureKeys(identities, newKeys, ports, waiting);
  const installed = await services.list();
  const kept = keepCommand ? installed.find(({ name }) => serviceKey(name) === serviceKey(agentName)) : undefined;
  const config = {
    command: kept?.config.command ?? command,
    description: managedDescription(agentName),
    dependencies: [],
    startType: 'automatic',
    recovery: agentRecovery,
  } as const;
  const wanted = { name: agentName, config, prepares: false, filesChanged: false, environmentChanged: false };
  const outcome: InstallOutcome = { created: false, changed: false, started: false, keyHashes };
  for (const action of planServices([wanted], installed).actions) {
    waiting.signal.throwIfAborted();
    if (action.do === 'stop') await ensureStopped(action.name, ports, waiting);
    if (action.do === 'create') await services.create(action.name, action.config);
    if (action.do === 'configure') await services.configure(action.name, action.config);
    if (action.do === 'start') outcome.started = (await start(action.name, ports)) || outcome.started;
    outcome.created ||= action.do === 'create';
    outcome.changed ||= action.do === 'configure';
  }
  return outcome;
}

/** Stops the service before a key is replaced, so that it does not use the old one. */
async function ensureKeys(
  identities: readonly KeptIdentity[],
  newKeys: boolean,
  ports: InstallPorts,
  waiting: Waiting,
): Promise<string[]> {
  const { files, services } = ports;
  const found = await Promise.all(identities.map(async kept => (newKeys ? undefined : findKey(kept.keyFile, files))));
  if (found.includes(undefined) && (await services.query(agentName)) !== undefined) {
    await ensureStopped(agentName, ports, waiting);
  }
  const keys = found.map(key => key ?? createKey());
  for (const [index, kept] of identities.entries()) {
    const key = keys[index];
    if (key === undefined || key === found[index]) continue;
    await removeCertificates(kept, files);
    await files.write(kept.keyFile, key.pem.reveal(), 'secret');
  }
  return keys.map(key => key.hash);
}

/** Removes the certificates of the old key, and the dated copies and key pairs of the Go agent. */
async function removeCertificates({ certificateFile, keyFile }: KeptIdentity, files: HostFiles): Promise<void> {
  const current = splitPath(certificateFile).name;
  const prefix = current.slice(0, current.lastIndexOf('-current'));
  const names = await files.list(dir.agentCerts);
  // The draft of a key is a folder; the next write removes what a killed `install` left of it.
  const isOwn = (name: string) => name.toLowerCase().startsWith(prefix) && !leftoverName.test(name);
  for (const name of names.filter(isOwn)) {
    const path = `${dir.agentCerts}\\${name}`;
    if (path.toLowerCase() !== keyFile.toLowerCase()) await files.remove(path);
  }
}

/** False when Windows has already restarted it. */
async function start(name: string, ports: ServicePorts): Promise<boolean> {
  const { state } = (await ports.services.query(name)) ?? {};
  if (state === 'start-pending' || state === 'running') return false;
  return requestState(name, () => ports.services.start(name), ports, ['start-pending', 'running']);
}
