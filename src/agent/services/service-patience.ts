import type { Patience } from '#base/waiting/poll.ts';

/** For the start or the stop of a service. */
export const servicePatience: Patience = { everyMs: 200, limitMs: 120_000 };
