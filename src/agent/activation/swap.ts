import { AppError } from '#base/errors.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { pathKey } from '#contract/host-path.ts';
import { activationService, agentName } from '#contract/names.ts';
import { agentProgram, file } from '#contract/paths.ts';
import { planRemoval } from '../cleanup/decide.ts';
import { endShims } from '../cleanup/shims.ts';
import { rememberStopped } from '../cleanup/stopped-services.ts';
import type { HostFiles, InstalledService } from '../ports.ts';
import { ensureStopped } from '../services/ensure.ts';
import { isManaged, serviceKey } from '../services/order.ts';
import { readRecord, type StagedFile, type StagedRecord, writeRecord } from '../stage/record.ts';
import { placeSafely, removeRegistryFolder } from '../stage/stage.ts';
import type { ActivatorPorts } from './activator.ts';
import { rememberSwapped } from './leftover-services.ts';
import { reportedFile } from './report-file.ts';

export interface SwapPorts extends ActivatorPorts {
  files: HostFiles;
}

/**
 * Puts a set in place of another one, the agent program last. Every step can be repeated, so that an interrupted swap starts
 * again from the beginning.
 */
export async function swapSets(
  sets: { to: StagedRecord; from: StagedRecord },
  ports: SwapPorts,
  waiting: Waiting,
): Promise<void> {
  const { files } = ports;
  await stopServices(ports, waiting);
  await placeFiles(sets, files, waiting.signal);
  await writeRecord(sets.to, files);
  await verify(sets.to, files, waiting.signal);
  await placeProgram(sets.to.agent, files);
  // Windows restarts services whose process was ended: what it starts from now on are programs of the new set.
  await stopServices(ports, waiting);
  await files.remove(reportedFile);
}

/** Whether the set `to` is whole in place, with no file that only the other one has. */
export async function isInPlace(
  { to, from }: { to: StagedRecord; from: StagedRecord },
  files: HostFiles,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await readRecord(files)).version !== to.version) return false;
  for (const { path } of onlyIn(from, to)) if ((await files.stat(path)) !== undefined) return false;
  const wanted = [...to.files, { path: file.agent, sha256: to.agent }];
  for (const { path, sha256 } of wanted) {
    signal.throwIfAborted();
    if ((await files.sha256(path)) !== sha256) return false;
  }
  return true;
}

/** The agent first, because it would start the others again. Windows must not start half a set after a power cut either. */
async function stopServices(ports: SwapPorts, waiting: Waiting): Promise<void> {
  await ensureStopped(agentName, ports, waiting);
  const isOwn = ({ name }: { name: string }) => serviceKey(name) === serviceKey(activationService);
  const installed = (await ports.services.list()).filter(service => !isOwn(service));
  for (const service of installed) if (isAutomatic(service)) await setToManual(service, ports);
  await ports.system.flushServices();
  const stops = planRemoval(installed, [], true);
  // Services of others that depend on ours are started again by the agent.
  await rememberStopped(stops, ports);
  await rememberSwapped(stops, ports.files);
  const names = stops.map(({ name }) => name);
  for (let attempt = 1; !(await stopInTurn(names, attempt === maxAttempts, ports, waiting)); attempt += 1);
  await endShims(ports.processes);
}

const maxAttempts = 5;

/**
 * Windows starts a service that crashed again after a delay, also one that was stopped meanwhile, and then what it depends on does
 * not stop. Returns whether all are stopped; rejects if that was not the cause, or in the last attempt.
 */
async function stopInTurn(
  names: readonly string[],
  isLast: boolean,
  ports: SwapPorts,
  waiting: Waiting,
): Promise<boolean> {
  const stopped: string[] = [];
  try {
    for (const name of names) {
      await ensureStopped(name, ports, waiting);
      stopped.push(name);
    }
    return true;
  } catch (error) {
    const states = await Promise.all(stopped.map(name => ports.services.query(name)));
    if (isLast || states.every(status => status === undefined || status.state === 'stopped')) throw error;
    return false;
  }
}

function isAutomatic(service: InstalledService): boolean {
  const isAgent = serviceKey(service.name) === serviceKey(agentName);
  return isManaged(service) && !isAgent && service.config.startType === 'automatic';
}

/** The next pass of the agent restores the start type. */
async function setToManual({ name, config }: InstalledService, { services }: SwapPorts): Promise<void> {
  const recovery = config.recovery === 'unreadable' ? agentRecovery : config.recovery;
  await services.configure(name, { ...config, recovery, startType: 'manual' });
}

async function placeFiles(
  { to, from }: { to: StagedRecord; from: StagedRecord },
  files: HostFiles,
  signal: AbortSignal,
): Promise<void> {
  for (const entry of to.files) {
    signal.throwIfAborted();
    await placeSafely(entry, files);
  }
  for (const { path } of onlyIn(from, to)) {
    signal.throwIfAborted();
    await removeOrMove(path, files);
    await removeRegistryFolder(path, files);
  }
}

/** The files of a set that another one does not have. */
function onlyIn({ files }: StagedRecord, other: StagedRecord): StagedFile[] {
  const kept = new Set(other.files.map(({ path }) => pathKey(path)));
  return files.filter(({ path }) => !kept.has(pathKey(path)));
}

const maxAside = 100;

/** Windows does not delete a program that runs, but renames it. The next write to its directory deletes it. */
async function removeOrMove(path: string, files: HostFiles): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    for (let number = 1; number <= maxAside; number += 1) {
      const aside = `${path}.wicd-old-${number}`;
      if ((await files.stat(aside)) !== undefined) continue;
      if (await files.move(path, aside)) return;
      break;
    }
    throw error;
  }
}

async function verify({ version, files: wanted }: StagedRecord, files: HostFiles, signal: AbortSignal): Promise<void> {
  for (const { path, sha256 } of wanted) {
    signal.throwIfAborted();
    const actual = await files.sha256(path);
    if (actual !== sha256) throw failed(`file ${path} of version ${version} has the hash ${actual ?? 'of no file'}`);
  }
}

async function placeProgram(agent: string, files: HostFiles): Promise<void> {
  if ((await files.sha256(file.agent)) === agent) return;
  await checkProgram(agent, files);
  await files.writeChunks(file.agent, files.readChunks(agentProgram(agent)));
  const placed = await files.sha256(file.agent);
  if (placed !== agent) throw failed(`${file.agent} has the hash ${placed ?? 'of no file'} after it was written`);
}

/** Rejects unless the program of a set is on the host as it was uploaded. */
export async function checkProgram(agent: string, files: HostFiles): Promise<void> {
  const actual = await files.sha256(agentProgram(agent));
  if (actual !== agent) throw failed(`${agentProgram(agent)} has the hash ${actual ?? 'of no file'}`);
}

export function failed(what: string): AppError {
  return new AppError('ACTIVATION_FAILED', what, {
    remedy: 'Wait for the operator: it uploads what is missing before the next attempt.',
  });
}
