/**
 * The Lua scripts of redis/working-memory: each is one round trip and all or nothing. Turns are a list, the state a hash with a field for
 * each slot; the field without a name holds the time (ms of the caller's clock) until which the session lives.
 */

/** KEYS: turns, state. ARGV: now, life (ms). Leaves nothing of a session that is over, and prolongs the life of one that is not. */
const OPEN = `
local now, life = tonumber(ARGV[1]), tonumber(ARGV[2])
local function over() return tonumber(redis.call('HGET', KEYS[2], '') or '0') <= now end
local function live()
  redis.call('HSET', KEYS[2], '', now + life)
  redis.call('PEXPIRE', KEYS[1], life)
  redis.call('PEXPIRE', KEYS[2], life)
end
local gone = over()
if gone then redis.call('DEL', KEYS[1], KEYS[2]) end
`;

/** ARGV besides: turns kept, the turn. Answers how many there are. */
export const ADD_TURN = `${OPEN}
redis.call('RPUSH', KEYS[1], ARGV[4])
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[3]), -1)
live()
return redis.call('LLEN', KEYS[1])
`;

export const TURNS = `${OPEN}
if gone then return {} end
live()
return redis.call('LRANGE', KEYS[1], 0, -1)
`;

/** Values of slots, as they were put. */
export const STATE = `${OPEN}
if gone then return {} end
live()
local values, all = {}, redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do if all[i] ~= '' then values[#values + 1] = all[i + 1] end end
return values
`;

/**
 * ARGV besides: mode, bytes and slots at most, how many names to remove, those names, then name and value of each slot. A value begins with
 * its size in bytes and a bar. Answers 1, or 0 when it would be too much.
 */
export const PUT_STATE = `${OPEN}
local mode, max_bytes, max_slots, removed = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local slots = {}
if mode == 'merge' then
  local all = redis.call('HGETALL', KEYS[2])
  for i = 1, #all, 2 do if all[i] ~= '' then slots[all[i]] = all[i + 1] end end
end
for i = 7, 6 + removed do slots[ARGV[i]] = nil end
for i = 7 + removed, #ARGV, 2 do slots[ARGV[i]] = ARGV[i + 1] end
local bytes, count = 1, 0
for _, value in pairs(slots) do
  bytes = bytes + tonumber(string.match(value, '^%d+'))
  count = count + 1
end
if bytes > max_bytes or count > max_slots then
  if not gone then live() end
  return 0
end
redis.call('DEL', KEYS[2])
for name, value in pairs(slots) do redis.call('HSET', KEYS[2], name, value) end
live()
return 1
`;
