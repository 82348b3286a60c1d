import { isHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';

/** The name, if it is one: it becomes part of a command line, so nothing else may pass. */
export function hostNameOf(answer: string, source: string): string {
  // A cloud network with several domains names the machine once for each.
  const [name = ''] = answer.trim().split(/\s+/);
  if (isHostName(name)) return name;
  throw new AppError('HOST_VALUE_UNKNOWN', `${source} names this host ${shown(answer.trim())}, which is no host name`, {
    remedy: 'Give the host a name of letters, digits and hyphens, with a DNS domain or without.',
  });
}
