const ID = /^(?:[a-z]{1,12}_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The path of a request with its ids and nothing else: what stands in the place of an id may be a key or a document
 * that was pasted there, and a query may hold anything.
 * @param route as in `/v1/charges/:id`
 */
export function loggedPath(route: string, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/:(\w+)/g, (placeholder, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    return typeof value === 'string' && ID.test(value) ? value : placeholder;
  });
}
