import type { Command } from '../command.ts';
import { checkClusterCommand } from './cluster.ts';
import { checkCsr } from './csr.ts';
import { checkInstances } from './instances.ts';
import { checkMirrors } from './mirrors.ts';
import { checkServices } from './services.ts';

export const checks: readonly Command[] = [checkInstances, checkCsr, checkMirrors, checkServices, checkClusterCommand];
