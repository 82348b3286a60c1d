import { quotedForPowerShell, runOnHost } from '#base/powershell.ts';
import { printPublicKey, type PublicKey } from './public-key.ts';

const authorizedKeys = 'C:\\ProgramData\\ssh\\administrators_authorized_keys';

/**
 * The command that adds the line of a key on a host. The empty first line ends a last line without a line end; groups by SID have the
 * same name in every language.
 */
export function authorizeRemedy(key: PublicKey): string {
  return runOnHost(
    `Add-Content ${authorizedKeys} -Value '', ${quotedForPowerShell(printPublicKey(key))}`,
    `icacls.exe ${authorizedKeys} /inheritance:r /grant '*S-1-5-32-544:F' /grant '*S-1-5-18:F'`,
  );
}
