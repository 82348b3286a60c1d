import { type AppError, attempt } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { secretKey } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { secretData } from '#contract/secret-data.ts';
import type { SecretObject } from '#kube/resources.ts';
import { readCredentials } from '../desired/registries/credentials.ts';

const none = new Secret('{"auths":{}}');

/**
 * The logins of the pull secret. One that cannot be read counts as it was before: otherwise a typo would take the logins of all hosts
 * away, or hold back all other settings. Without an earlier one it is an error. A missing one has no logins.
 */
export class LastLogins {
  /** Why the pull secret of now does not count. */
  problem: AppError | undefined;
  #last: Secret | undefined;

  /** Throws an AppError when it cannot be read, and never could. */
  read(secret: SecretObject | undefined): Secret {
    const text = secret && secretData(readObject(secret))[secretKey.dockerConfig];
    if (text === undefined) {
      this.problem = undefined;
      return none;
    }
    const checked = attempt(() => readCredentials(text));
    this.problem = checked.ok ? undefined : checked.error;
    if (checked.ok) this.#last = text;
    else if (this.#last === undefined) throw checked.error;
    return this.#last ?? text;
  }
}
