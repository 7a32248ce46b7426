import { createHmac, randomBytes } from 'node:crypto';
import { Pool } from 'undici';

const CONNECTIONS = 64;

/** A client that only signs and posts, in a process of its own: prints the seconds of each round. */
const [, , url = '', body = '', posts = '0', rounds = '0'] = process.argv;
const pool = new Pool(url, { connections: CONNECTIONS });
const secret = randomBytes(32).toString('hex');
let left = 0;
const send = async (): Promise<void> => {
  while (left > 0) {
    left -= 1;
    const t = String(Math.floor(Date.now() / 1000));
    const hex = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${hex}` };
    const response = await pool.request({ method: 'POST', path: '/', headers, body });
    await response.body.dump();
  }
};
for (let round = 0; round < Number(rounds); round++) {
  left = Number(posts);
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, send));
  process.stdout.write(`${String((performance.now() - began) / 1000)}\n`);
}
await pool.close();
