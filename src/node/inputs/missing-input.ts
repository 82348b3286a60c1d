import { AppError } from '#base/errors.ts';

/** An object that an administrator or another operator creates is not there yet. */
export function missingInput(label: string, cause?: unknown, problem = 'does not exist'): AppError {
  return new AppError('MATERIAL_MISSING', `${label} ${problem}`, {
    remedy: `Wait until ${label} is created. If it is still missing after a minute, check \`kubectl get events -A\`.`,
    cause,
  });
}

/** An object that this operator or Kubernetes itself creates soon; journeys wait for it before they fail. */
export class PendingInputError extends AppError {
  readonly label: string;

  constructor(label: string, cause?: unknown) {
    const { code, message, remedy } = missingInput(label);
    super(code, message, { remedy, cause });
    this.label = label;
  }
}
