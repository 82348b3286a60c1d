import type { Log } from '#base/log.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import type { Runnable } from '#kube/controller/manager.ts';

/** Logs discovered values and where they were read from, at the start and after each change. */
export function logOrigins(facts: Pick<FactsSource, 'read' | 'onChange'>, log: Log): Runnable {
  let last = '';
  const logChange = () => {
    const { facts: known, origins } = facts.read();
    if (known === undefined || origins === undefined) return;
    const { apiServerUrl, network } = known;
    const values = { apiServerUrl, serviceCidr: network.serviceCidr, clusterDns: network.clusterDns, origins };
    const text = JSON.stringify(values);
    if (text === last) return;
    last = text;
    log.info('Discovered cluster', values);
  };
  return {
    name: 'log of discovered values',
    run: async (signal, ready) => {
      logChange();
      const stop = facts.onChange(logChange);
      ready();
      await whenAborted(signal);
      stop();
    },
  };
}
