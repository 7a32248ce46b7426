const ID = /^(?:[a-z]{1,12}_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The path of a request with valid ids only: a key or a document may have been pasted in place of an id. The query may
 * contain anything, so it is left out.
 * @param route as in `/v1/charges/:id`
 */
export function loggedPath(route: string, params: Readonly<Record<string, unknown>>): string {
  return route.replace(/:(\w+)/g, (placeholder, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    return typeof value === 'string' && ID.test(value) ? value : placeholder;
  });
}
