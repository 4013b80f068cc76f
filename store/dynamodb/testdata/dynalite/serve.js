// Serves dynalite on 127.0.0.1: node serve.js PORT
const dynalite = require('dynalite')

// It ends when a client breaks a request off. DynamoDB does not.
process.on('uncaughtException', (err) => {
  if (err.code !== 'ECONNRESET') throw err
})

dynalite({ createTableMs: 0, deleteTableMs: 0 }).listen(Number(process.argv[2]), '127.0.0.1')
