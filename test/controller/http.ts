/** Plain requests to a controller's API, as any program would make them; no SDK between. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for, and says what it expects of it.
  readonly body: any;
}

export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Bodies are sent as JSON, bytes as they are; an answer that is no JSON is given as text. */
export function callsTo({ url, token }: { readonly url: string; readonly token: string }): Call {
  return async (method, path, body, headers = {}) => {
    const isBytes = body instanceof Uint8Array;
    const type = isBytes ? 'application/octet-stream' : 'application/json';
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}
