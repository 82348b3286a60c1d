import { accessCases } from './access.ts';
import type { ParityCase } from './case.ts';
import { certificateCases } from './certificates.ts';
import { configCases } from './config.ts';
import { crdCases } from './crd.ts';
import { createCases } from './create.ts';
import { csrCases } from './csr.ts';
import { customCases } from './custom.ts';
import { customWriteCases } from './custom-writes.ts';
import { deleteCases } from './delete.ts';
import { discoveryCases } from './discovery.ts';
import { eventAndAccountCases } from './events-and-accounts.ts';
import { evictionCases } from './evictions.ts';
import { garbageCollectionCases } from './garbage-collection.ts';
import { instanceCases } from './instances.ts';
import { jsonPatchCases } from './json-patch.ts';
import { metadataOnlyCases } from './metadata-only.ts';
import { namespaceCases } from './namespaces.ts';
import { nodeCases } from './nodes.ts';
import { patchCases } from './patch.ts';
import { podCases } from './pods.ts';
import { rbacCases } from './rbac.ts';
import { readCases } from './read.ts';
import { refusalCases } from './refusals.ts';
import { reviewCases } from './reviews.ts';
import { selectorCases } from './selectors.ts';
import { smallCases } from './small.ts';
import { strategicCases } from './strategic.ts';
import { tokenCases } from './tokens.ts';
import { updateCases } from './update.ts';
import { watchCases } from './watch.ts';

/** Cases for the real API server and the embedded one. */
export const parityCases: readonly ParityCase[] = [
  ...createCases,
  ...refusalCases,
  ...readCases,
  ...metadataOnlyCases,
  ...selectorCases,
  ...updateCases,
  ...configCases,
  ...instanceCases,
  ...patchCases,
  ...jsonPatchCases,
  ...strategicCases,
  ...deleteCases,
  ...watchCases,
  ...nodeCases,
  ...podCases,
  ...evictionCases,
  ...namespaceCases,
  ...smallCases,
  ...eventAndAccountCases,
  ...certificateCases,
  ...accessCases,
  ...reviewCases,
  ...customCases,
  ...customWriteCases,
  ...crdCases,
  ...discoveryCases,
  ...rbacCases,
  ...csrCases,
  ...tokenCases,
  ...garbageCollectionCases,
];
