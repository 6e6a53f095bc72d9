// Requests without sockets, so that the figures are Fastify's and ours.

const socket = { encrypted: false, remoteAddress: '127.0.0.1', on() {} }

/** As little of a response as Fastify needs. */
function response() {
  return {
    statusCode: 200,
    headersSent: false,
    setHeader() {},
    getHeader() {},
    hasHeader: () => false,
    removeHeader() {},
    writeHead(status) {
      this.statusCode = status
    },
    end() {},
    on() {},
    once() {},
    getHeaders: () => ({}),
    getHeaderNames: () => [],
    removeListener() {},
  }
}

/** Makes a subject of `measure`: sends so many GET requests, and fails when one is answered by another status. */
export function requestTo(app, { path, headers = {}, status }, times = 5_000) {
  const sent = { host: 'bench', ...headers }
  return () => {
    for (let time = 0; time < times; time++) {
      const answer = response()
      app.routing({ method: 'GET', url: path, headers: sent, socket, on() {} }, answer)
      if (answer.statusCode !== status) throw new Error(`${path} answered ${answer.statusCode}`)
    }
    return times
  }
}
