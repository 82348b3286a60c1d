/** One fact with input and expected output; the rows are in test/conformance/rows. */
export interface Row {
  id: string;
  name: string;
  op: string;
  input: Input;
  expected: Record<string, unknown>;
  match?: 'set';
  hardened?: boolean;
}

/** Rows are data of many shapes; the operations know which one they get. */
// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs from operation to operation
export type Input = any;

/** Maps an operation to product code. It throws what the product throws and returns members named as in the rows. */
export type Operation = (input: Input) => unknown;

export interface Area {
  ops: Record<string, Operation>;
  /** Selects the members to compare when a row has more. */
  expected?: (row: Row) => Record<string, unknown>;
}
