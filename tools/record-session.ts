import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { defaultNamespace } from '#contract/names.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { endFaultAnnotation } from '#sandbox/machines/cluster/end-faults.ts';
import { seen } from '../test/kit/seen-screen.ts';
import { startOnTerminal, startWmco } from '../test/kit/wmco-process.ts';

/** The terminal of the session. */
export const size = { columns: 80, rows: 24 } as const;
const [host, fault] = ['win-2', 'wrong-key'];
const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'failing-join.md');

interface Session {
  /** The screen when the join has failed. */
  failed: string[];
  /** What `wmco status HOST` prints. */
  status: string[];
  /** The screen after the fault has ended. */
  ready: string[];
}

/** Runs a sandbox with a failing host on a terminal, looks at the host, and ends its fault. */
export async function recordSession(): Promise<Session> {
  const folder = mkdtempSync(join(tmpdir(), 'wmco-session-'));
  const kubeconfig = join(folder, 'kubeconfig');
  mkdirSync(join(folder, 'bin'));
  // The hints then name the command as it is typed.
  symlinkSync(join(root, 'wmco'), join(folder, 'bin', 'wmco'));
  const path = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const environment = { PATH: path, NO_COLOR: '1', KUBECONFIG: kubeconfig, LC_ALL: 'C.UTF-8' };
  const clean = (line: string) => line.replaceAll(folder, '/tmp/demo').trimEnd();
  try {
    const words = [
      'sandbox',
      '--hosts',
      '13',
      '--machines',
      '0',
      '--speed',
      '10',
      '--kubeconfig',
      kubeconfig,
      '--log',
      join(folder, 'operator.log'),
    ];
    await using sandbox = startOnTerminal([...words, '--faults', `${fault}@${host}`], { environment, ...size });
    const screen = () => withoutEnd(seen(sandbox.out(), size.columns, size.rows).slice(-size.rows).map(clean));
    await sandbox.until(endOf(`Running until Ctrl-C[^]*${fault}`));
    const failed = screen();
    await using status = startWmco(['status', host], { environment });
    await status.ended();
    const printed = withoutEnd(status.out().split('\n').map(clean));
    await endFault(kubeconfig);
    await sandbox.until(endOf('13 hosts: 13 Ready'));
    const ready = screen();
    sandbox.type('\u0003');
    await sandbox.ended();
    return { failed, status: printed, ready };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Matches when the whole frame with this text has arrived. */
function endOf(text: string): RegExp {
  return new RegExp(`${text}[^]*${String.raw`\u001b\[J$`}`);
}

/** The last line of a screen is that of the cursor. */
function withoutEnd(lines: string[]): string[] {
  return lines.slice(0, lines.findLastIndex(line => line !== '') + 1);
}

/** As `kubectl annotate` does it. */
async function endFault(kubeconfig: string): Promise<void> {
  const client = createClient(loadKubeconfig(readFileSync(kubeconfig, 'utf8')));
  const body = { metadata: { annotations: { [endFaultAnnotation]: fault } } };
  await client.patch(windowsInstances, host, { type: 'merge', body }, { namespace: defaultNamespace });
  await client.close();
}

export function sessionPage({ failed, status, ready }: Session): string {
  const screen = (lines: readonly string[]) => ['```', ...lines, '```'].join('\n');
  return `# A failing join

Recorded with \`npm run record\` on a terminal of ${size.columns} columns and ${size.rows} rows. One of 13 hosts rejects the SSH key
of the operator:

\`\`\`
$ wmco sandbox --hosts 13 --machines 0 --speed 10 --faults ${fault}@${host}
\`\`\`

The cause and the remedy are on the screen, with the commands for this host below:

${screen(failed)}

All about the host. The command of the remedy is on one line, so that you can copy it:

\`\`\`
$ wmco status ${host}
${status.join('\n')}
\`\`\`

You cannot log in to a simulated host. This annotation does there what the remedy says:

\`\`\`
$ kubectl annotate wi ${host} -n ${defaultNamespace} ${endFaultAnnotation}=${fault}
\`\`\`

The host joins within seconds:

${screen(ready)}
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, sessionPage(await recordSession()));
