import { isHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';

/** Checks a host name, because it becomes part of a command line. */
export function hostNameOf(answer: string, source: string): string {
  // A cloud network with several domains returns one name for each.
  const [name = ''] = answer.trim().split(/\s+/);
  if (isHostName(name)) return name;
  throw new AppError(
    'HOST_VALUE_UNKNOWN',
    `${shown(answer.trim())}, the name of this host in ${source}, is not a host name`,
    {
      remedy: 'Rename the host: use letters, digits and hyphens, with or without a DNS domain.',
    },
  );
}
