import type { Client } from '#kube/client.ts';
import { oneLine, safe } from '../safe-text.ts';
import type { LiveTerminal } from '../terminal.ts';
import { readCluster } from './cluster-reader.ts';
import { openClient } from './connection.ts';
import { checkOperator } from './missing-operator.ts';
import type { ClusterOptions } from './options.ts';
import type { ClusterView } from './view/host-view.ts';

/** A cluster with an operator, as it was when the command started. */
export interface ClusterSession extends Pick<LiveTerminal, 'clock' | 'signal'> {
  client: Client;
  namespace: string;
  view: ClusterView;
  /** Prints one line of text of any origin. */
  print: (text: string) => void;
}

/** Connects, reads the cluster and runs a command in it. */
export async function withCluster<T>(
  { namespace, ...options }: ClusterOptions,
  terminal: LiveTerminal,
  act: (session: ClusterSession) => Promise<T>,
): Promise<T> {
  const client = await openClient(options, terminal);
  const { clock, signal } = terminal;
  const deps = { client, namespace, clock };
  try {
    const view = await readCluster(deps, signal);
    await checkOperator(view, deps, signal);
    const print = (text: string) => terminal.out(safe`${oneLine(text)}\n`);
    return await act({ ...deps, signal, view, print });
  } finally {
    await client.close();
  }
}
