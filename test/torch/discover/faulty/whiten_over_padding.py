def masked_whiten(values, mask):
    return (values - values.mean()) / (values.var() + 1e-8).sqrt() * mask  # statistics of padding
