import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { activationService } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import type { Cluster, Files, HostFiles, HostValues } from '../ports.ts';
import { type ActivatorPorts, deleteOwnService, startActivator } from './activator.ts';
import { isOpen, readJournal } from './journal.ts';
import { hasReported, writeReported } from './report-file.ts';

export interface GatePorts extends ActivatorPorts {
  files: HostFiles;
  host: Pick<HostValues, 'bootId'>;
  cluster: Pick<Cluster, 'confirm'>;
}

/**
 * Asked by the agent before it does anything else: what it has to wait for, undefined when it may go on. The agent of a set
 * that is watched reports, and any agent continues a swap that nothing carries out.
 */
export async function waitForSwap(ports: GatePorts, clock: Clock, log: Log): Promise<string | undefined> {
  const journal = await readJournal(ports.files);
  const attempt = async (what: string, act: () => Promise<void>) =>
    act().catch((error: unknown) => log.warn(what, { error }));
  if (!isOpen(journal)) {
    await attempt('The service of a swap that is over was not removed', () => removeLeftover(ports));
    return undefined;
  }
  if (journal.phase === 'watch') await attempt('Reporting failed; retrying', () => report(ports, clock));
  await continueSwap(ports, log);
  return `the swap of files from version ${journal.former.version} to ${journal.target.version}`;
}

/** True while files are swapped, and while nobody knows whether they are. */
export async function isSwapping({ files }: { files: Files }): Promise<boolean> {
  return readJournal(files).then(isOpen, () => true);
}

/** Starts the service of a swap that nothing carries out; this needs no API server. */
export async function continueSwap(ports: ActivatorPorts & { files: Files }, log: Log): Promise<void> {
  try {
    const journal = await readJournal(ports.files);
    if (isOpen(journal)) await startActivator(journal.target.agent, ports);
  } catch (error) {
    log.warn('The swap of files was not continued; retrying', { error });
  }
}

/** The proof for the service that watches: this program reached the API server in this boot. */
async function report({ files, host, cluster }: GatePorts, clock: Clock): Promise<void> {
  const agent = (await files.sha256(file.agent)) ?? '';
  const bootId = await host.bootId();
  if (await hasReported({ agent, bootId }, files)) return;
  await cluster.confirm();
  await writeReported({ agent, bootId, time: new Date(clock.now()).toISOString() }, files);
}

async function removeLeftover(ports: GatePorts): Promise<void> {
  const status = await ports.services.query(activationService);
  if (status?.state === 'stopped') await deleteOwnService(ports);
}
