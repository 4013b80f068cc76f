-- Extends the lease of a live claim.
-- KEYS record leases refs   ARGV version key ref token fence lease
local r = redis.call('HMGET', KEYS[1], 'state', 'token', 'fence', 'lease', 'version', 'root')
local live = r[5] and rooted(r[6], ARGV[3]) and r[1] == 'in_flight' and r[2] == ARGV[4] and r[3] == ARGV[5] and
  (tonumber(r[4] or '') or 0) > now
if not live then -- lost, ended, or to be resumed: for the state machine to say
  local found = redis.call('HGETALL', KEYS[1])
  return answer(#found > 0 and 'found' or absent(KEYS[3], ARGV[3]), found)
end
local lease = int(now + ARGV[6])
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'lease', lease)
redis.call('ZADD', KEYS[2], lease, ARGV[2])
return answer('written')
