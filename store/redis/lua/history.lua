-- KEYS history
return answer('found', redis.call('LRANGE', KEYS[1], 0, -1))
