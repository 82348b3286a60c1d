import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { agentCommands } from '#contract/agent-command.ts';
import { file } from '#contract/paths.ts';
import { parseInventory } from '#contract/inventory.ts';
import type { Connect } from '#host/host.ts';
import { withDeadline } from '#kube/deadline.ts';
import type { HostKeyStore, MaterialSource } from '#node/lifecycle/world.ts';
import type { AskHost } from './host-names.ts';

export interface AskHostParts {
  connect: Connect;
  material: Pick<MaterialSource, 'keysFor'>;
  hostKeys: Pick<HostKeyStore, 'find'>;
  clock: Clock;
}

/** The whole question, with all that our agent looks at on a slow disk. */
const limitMs = 90_000;
const [dialTimeoutMs, handshakeTimeoutMs, commandMs] = [5000, 10_000, 60_000];

/**
 * Has our agent on the host tell its name. The answer decides about a certificate, so it is taken from nobody but the host whose key
 * is known: a host that nobody has connected to yet is not asked.
 */
export function hostAsker({ connect, material, hostKeys, clock }: AskHostParts): AskHost {
  return (instance, node, caller) => {
    const { address, port, username = '' } = instance.spec;
    const error = () => unknownName(address, `no answer within ${limitMs} ms`);
    return withDeadline({ clock, ms: limitMs, error, signal: caller }, async signal => {
      const pinnedKey = await hostKeys.find(instance, node, signal);
      if (pinnedKey === undefined) throw unknownName(address, 'its host key is not known yet');
      const privateKeys = await material.keysFor(instance, signal);
      const target = { address, username, privateKeys, pinnedKey, ...(port !== undefined && { port }) };
      await using host = await connect(target, { signal, dialTimeoutMs, handshakeTimeoutMs });
      const { exitCode, stdout } = await host.exec(agentCommands(file.agent).inventory(), {
        signal,
        timeoutMs: commandMs,
      });
      if (exitCode !== 0) throw unknownName(address, `its agent ended with exit code ${exitCode}`);
      const { fqdn, hostName } = parseInventory(stdout, address);
      if (fqdn === '' && hostName === '') throw unknownName(address, 'its agent does not know it');
      return fqdn === '' ? hostName : fqdn;
    });
  };
}

function unknownName(address: string, why: string): AppError {
  return new AppError('HOST_VALUE_UNKNOWN', `${address} did not tell its name: ${why}`, {
    remedy: 'It is asked again; a PTR record for the address makes the question needless.',
  });
}
