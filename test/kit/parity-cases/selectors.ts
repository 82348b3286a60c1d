import { core, given, type ParityCase, status } from './case.ts';

const list = `GET ${core}/configmaps`;
const three = [
  given('a', {}, { labels: { n: '1', t: 'x' } }),
  given('b', {}, { labels: { n: '2' } }),
  given('c', {}, { labels: { n: '3', t: 'y' } }),
];
// A real server adds a ConfigMap with its CA to each namespace after a while.
const labeled = 'labelSelector=n';

function selects(name: string, selector: string, names: readonly string[]): ParityCase {
  return {
    name: `selects by ${name}`,
    steps: [
      ...three,
      {
        send: `${list}?labelSelector=${encodeURIComponent(selector)}`,
        code: 200,
        gives: { items: names.map(item => ({ metadata: { name: item } })) },
      },
    ],
  };
}

function refusesSelector(selector: string, message?: RegExp): ParityCase {
  return {
    name: `rejects the label selector ${selector}`,
    steps: [
      {
        send: `${list}?labelSelector=${encodeURIComponent(selector)}`,
        code: 400,
        gives: status('BadRequest', message),
      },
    ],
  };
}

export const selectorCases: readonly ParityCase[] = [
  selects('equality', 'n=2', ['b']),
  selects('double equality', 'n==2', ['b']),
  selects('inequality', 'n!=2,n', ['a', 'c']),
  selects('a set', 'n in (1,3)', ['a', 'c']),
  selects('exclusion from a set', 'n notin (1,3),n', ['b']),
  selects('existence', 't', ['a', 'c']),
  selects('absence', '!t,n', ['b']),
  selects('being greater', 'n>1', ['b', 'c']),
  selects('being less', 'n<2', ['a']),
  selects('several demands', 'n in (1,2,3),t=y', ['c']),
  refusesSelector('a=b=c'),
  refusesSelector('a in b'),
  refusesSelector('a in (b,c'),
  refusesSelector(','),
  refusesSelector('a=b,'),
  refusesSelector('a>b', /for 'Gt', 'Lt' operators, the value must be an integer/),
  refusesSelector('-a=b', /name part must consist of alphanumeric characters/),
  refusesSelector('a=-b', /a valid label must be an empty string or consist of/),
  {
    name: 'selects by common fields',
    steps: [
      ...three,
      {
        send: `${list}?fieldSelector=metadata.name%3Db`,
        code: 200,
        gives: { items: [{ metadata: { name: 'b' } }] },
      },
      {
        send: `${list}?${labeled}&fieldSelector=metadata.name!%3Db,metadata.namespace%3D{ns}`,
        code: 200,
        gives: { items: [{ metadata: { name: 'a' } }, { metadata: { name: 'c' } }] },
      },
    ],
  },
  {
    name: 'rejects unsupported field selectors',
    steps: [
      { send: `${list}?fieldSelector=data%3Db`, code: 400, gives: status('BadRequest') },
      {
        send: `GET ${core}/pods?fieldSelector=spec.x%3Db`,
        code: 400,
        gives: status('BadRequest', 'field label not supported: spec.x'),
      },
      {
        send: `${list}?fieldSelector=a`,
        code: 400,
        gives: status('BadRequest', "invalid selector: 'a'; can't understand 'a'"),
      },
    ],
  },
];
