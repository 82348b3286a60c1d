import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import { setRecent } from '#base/recent-map.ts';
import type { Permission } from '#kube/permissions.ts';
import type { Client } from '#kube/client.ts';
import { type SubjectAccessReview, subjectAccessReviews, type TokenReview, tokenReviews } from '#kube/resources.ts';

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: 'authentication.k8s.io', resources: ['tokenreviews'], verbs: ['create'] },
  { in: 'cluster', group: 'authorization.k8s.io', resources: ['subjectaccessreviews'], verbs: ['create'] },
];

export type Verdict = 'allowed' | 'unknown' | 'forbidden';

const rememberedMs = 60_000;
const maxRemembered = 256;
const callMs = 5000;

/** Allows clients to read metrics whose token the API server accepts and that may `get` the path /metrics. */
export class ScrapeAccess {
  readonly #client: Pick<Client, 'create'>;
  readonly #clock: Clock;
  /** By hash of the token. */
  readonly #known = new Map<string, { verdict: Verdict; untilMs: number }>();

  constructor(client: Pick<Client, 'create'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async check(authorization: string): Promise<Verdict> {
    const [, token] = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization) ?? [];
    if (token === undefined) return 'unknown';
    const id = createHash('sha256').update(token).digest('hex');
    const known = this.#known.get(id);
    if (known !== undefined && this.#clock.monotonicMs() < known.untilMs) return known.verdict;
    const verdict = await this.#review(token);
    setRecent(this.#known, id, { verdict, untilMs: this.#clock.monotonicMs() + rememberedMs }, maxRemembered);
    return verdict;
  }

  async #review(token: string): Promise<Verdict> {
    const review: TokenReview = { metadata: {}, spec: { token } };
    const { status } = await this.#client.create(tokenReviews, review, { timeoutMs: callMs });
    if (status?.authenticated !== true) return 'unknown';
    const { username: user = '', groups = [], uid = '' } = status.user ?? {};
    const spec = { user, groups, uid, nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    const access: SubjectAccessReview = { metadata: {}, spec };
    const answer = await this.#client.create(subjectAccessReviews, access, { timeoutMs: callMs });
    return answer.status?.allowed === true ? 'allowed' : 'forbidden';
  }
}
