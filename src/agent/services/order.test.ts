import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dependentsOf, dependenciesFirst, type Linked, serviceKey } from './order.ts';

/** `a:b,c` is a service a that depends on b and c. */
const parse = (text: string): Linked[] =>
  text
    .split(' ')
    .filter(word => word !== '')
    .map(word => {
      const [name = '', dependencies = ''] = word.split(':');
      return { name, dependencies: dependencies.split(',').filter(part => part !== '') };
    });
const names = (services: readonly Linked[]) => services.map(({ name }) => name).join(' ');

const orders: [name: string, services: string, want: string][] = [
  ['keeps nothing as nothing', '', ''],
  ['keeps the order of independent services', 'c a b', 'c a b'],
  ['puts a dependency first', 'a:b b', 'b a'],
  ['keeps a chain that is in order', 'a b:a c:b', 'a b c'],
  ['turns a chain round', 'c:b b:a a', 'a b c'],
  ['moves only what has to move', 'x c:a y a z', 'x a c y z'],
  ['takes dependencies in the order in which they are listed', 'a:c,b b c', 'c b a'],
  ['puts a diamond in order', 'd:b,c b:a c:a a', 'a b c d'],
  ['leaves out dependencies that are not in the list', 'a:tcpip b:a', 'a b'],
  ['compares names without regard to case', 'A:B b', 'b A'],
  ['cuts a cycle where it closes', 'a:b b:a', 'b a'],
  ['takes a service that depends on itself', 'a:a b', 'a b'],
];
for (const [name, services, want] of orders) {
  test(name, () => expect(names(dependenciesFirst(parse(services)))).toBe(want));
}

const dependents: [name: string, roots: string[], services: string, want: string][] = [
  ['finds none without services', ['a'], '', ''],
  ['finds direct dependents', ['a'], 'a b:a c', 'b'],
  ['finds indirect dependents', ['a'], 'a b:a c:b d:c', 'b c d'],
  ['finds dependents listed before what they depend on', ['a'], 'd:c c:b b:a a', 'd c b'],
  ['finds the dependents of several, each once', ['a', 'b'], 'a b c:a,b', 'c'],
  ['leaves out a named one that depends on another', ['a', 'b'], 'a b:a c:b', 'c'],
  ['finds dependents of a service that is not there', ['x'], 'a:x', 'a'],
  ['finds dependents without regard to case', ['KUBELET'], 'kubelet x:Kubelet', 'x'],
  ['comes to an end with a cycle', ['a'], 'a:c b:a c:b', 'b c'],
];
for (const [name, roots, services, want] of dependents) {
  test(name, () => expect(names(dependentsOf(roots, parse(services)))).toBe(want));
}

test('has one key for all spellings of a name', () => {
  expect(new Set(['Kubelet', 'KUBELET', 'kubelet'].map(serviceKey)).size).toBe(1);
});

test('orders a chain of ten thousand without running out of stack', () => {
  const chain = Array.from({ length: 10_000 }, (_, index) => ({ name: `s${index}`, dependencies: [`s${index + 1}`] }));
  expect(dependenciesFirst(chain).at(0)?.name).toBe('s9999');
});

/** Services that depend only on earlier ones, shuffled: always free of cycles. */
const acyclic = fc.array(fc.array(fc.nat(20), { maxLength: 3 }), { maxLength: 12 }).chain(lists => {
  const services = lists.map((list, index) => ({
    name: `s${index}`,
    dependencies: list.filter(other => other < index).map(other => `s${other}`),
  }));
  return fc.shuffledSubarray(services, { minLength: services.length, maxLength: services.length });
});

test('orders every service after its dependencies, and loses none', () => {
  fc.assert(
    fc.property(acyclic, services => {
      const ordered = dependenciesFirst(services);
      expect(new Set(ordered)).toEqual(new Set(services));
      expect(ordered).toHaveLength(services.length);
      ordered.forEach((service, index) => {
        for (const name of service.dependencies) {
          expect(ordered.findIndex(other => other.name === name)).toBeLessThan(index);
        }
      });
    }),
    { numRuns: 500 },
  );
});

test('finds exactly those from which a path of dependencies leads to a root', () => {
  const reaches = (from: Linked, root: string, all: readonly Linked[]): boolean =>
    from.dependencies.some(name => name === root || all.some(next => next.name === name && reaches(next, root, all)));
  fc.assert(
    fc.property(acyclic, services => {
      const found = dependentsOf(['s0'], services);
      expect(found).toEqual(services.filter(service => service.name !== 's0' && reaches(service, 's0', services)));
    }),
    { numRuns: 500 },
  );
});
