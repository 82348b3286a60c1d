import { AppError } from '#base/errors.ts';

/** An object that another part of the cluster creates is not there yet. */
export function missingInput(label: string, cause?: unknown, problem = 'does not exist'): AppError {
  return new AppError('MATERIAL_MISSING', `${label} ${problem}`, {
    remedy: `Wait until ${label} is created. If it is still missing after a minute, check \`kubectl get events -A\`.`,
    cause,
  });
}
