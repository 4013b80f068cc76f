-- KEYS index   ARGV offset limit
return answer('found', redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', moment, 'LIMIT', ARGV[1], ARGV[2]))
