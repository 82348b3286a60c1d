import { checkCluster } from '#cluster/openshift.ts';
import { type Command, textOption } from '../command.ts';
import { errorData, table } from '../output.ts';
import { settingsFrom } from '../settings.ts';

export const checkClusterCommand: Command = {
  name: 'cluster',
  summary: 'check whether a cluster supports Windows nodes: network, versions, platform',
  example: 'wmco check cluster -f examples/cluster.yaml --server-version v1.36.2',
  reads:
    'Networks, Infrastructure, APIServer, MachineConfigs, ControllerConfig, and Nodes unless --server-version is given',
  options: ['serverVersion', 'env'],
  run({ objects }, options) {
    const results = checkCluster(objects, settingsFrom(options, objects), textOption(options, 'serverVersion'));
    const rows = results.map(({ check, ok, detail }) => [ok ? '  ok ' : '  BAD', check, detail]);
    const bad = results.filter(({ ok }) => !ok).length;
    const summary =
      bad === 0
        ? 'supports Windows nodes'
        : `does not support Windows nodes: ${bad} of ${results.length} checks failed`;
    const data = results.map(({ error, ...result }) => ({ ...result, ...(error && { error: errorData(error) }) }));
    return {
      output: { text: `${summary}\n${table(rows)}`, data },
      findings: results.flatMap(({ error }) => error ?? []),
    };
  },
};
